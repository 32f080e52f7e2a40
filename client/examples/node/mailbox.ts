/** What came, for one reader. */
export class Mailbox<Mail> {
  private readonly mails: Mail[] = [];
  private wake: () => void = () => {};

  put(mail: Mail): void {
    this.mails.push(mail);
    this.wake();
  }

  /** The next one; none if nothing came in time. */
  async take(timeoutMs: number): Promise<Mail | undefined> {
    if (this.mails.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.mails.shift();
  }
}
