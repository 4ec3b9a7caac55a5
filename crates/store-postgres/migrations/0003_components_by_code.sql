-- The same code of the same owner is one component, which is found by its code.
CREATE INDEX components_by_code ON components (code_hash);
