const TIMER_MAX_MS = 2 ** 31 - 1; // the maximum of Node.js; a longer timer would not wait at all

/** Sets a timer; after 24 days it fires in any case. */
export function after(milliseconds: number, call: () => void): NodeJS.Timeout {
  return setTimeout(call, Math.min(milliseconds, TIMER_MAX_MS));
}

/** Whether the promise is fulfilled in time. */
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
