import { EventEmitter } from "node:events";

import { aside } from "./aside.js";

/** Notifies every listener, even after one that throws. */
export class Teller<Events extends Record<keyof Events, unknown[]>> extends EventEmitter<Events> {
  /** @internal */
  tell<Name extends string & keyof Events>(name: Name, ...what: Events[Name]): void {
    const emitter = this as unknown as EventEmitter;
    const listeners = emitter.rawListeners(name);
    // An "error" without a listener is thrown, as usual in Node.js.
    if (listeners.length === 0) listeners.push(() => emitter.emit(name, ...what));
    for (const listener of listeners) aside(() => listener.apply(emitter, what));
  }
}
