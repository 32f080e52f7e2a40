/** Calls code of the application. If it throws, the error is thrown later, on its own. */
export function aside(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
