/** `1 seat`, `2 seats`. */
export const many = (n: number, one: string, more = `${one}s`) => `${n} ${n === 1 ? one : more}`;
