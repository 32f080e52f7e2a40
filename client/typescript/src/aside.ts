/** For code of the application's: what it throws is thrown on its own, and later. */
export function aside(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
