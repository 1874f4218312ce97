/** Runs foreign code whose errors must not reach the caller: what it throws, and what a promise that it returns rejects with. */
export function contained(work: () => unknown, onFault: (error: unknown) => void): void {
  try {
    const returned = work();
    // Adopts thenables of other libraries too, and a `then` that throws.
    if (typeof returned === 'object' && returned !== null) Promise.resolve(returned).catch(onFault);
  } catch (error) {
    onFault(error);
  }
}
