export const word = "linked";
