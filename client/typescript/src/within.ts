const TIMER_MAX_MS = 2 ** 31 - 1; // of Node.js; a longer one would not wait at all

/** Calls it after this time; after 24 days at the latest. */
export function after(milliseconds: number, call: () => void): NodeJS.Timeout {
  return setTimeout(call, Math.min(milliseconds, TIMER_MAX_MS));
}

/** Whether the promise is fulfilled within this time. */
export async function within(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = after(milliseconds, () => resolve(false));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
