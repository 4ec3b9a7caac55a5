throw new RangeError("not even loaded");
