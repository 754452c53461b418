export type Listener<T> = (payload: T) => void;

export interface Disposable {
  dispose(): void;
}

export class Emitter<Events extends Record<string, unknown>> {
  #listeners = new Map<keyof Events, Set<Listener<any>>>();

  on<K extends keyof Events>(name: K, listener: Listener<Events[K]>): Disposable {
    const set = this.listenersOf(name);
    set.add(listener);
    return { dispose: () => this.off(name, listener) };
  }

  off<K extends keyof Events>(name: K, listener: Listener<Events[K]>): void {
    this.listenersOf(name).delete(listener);
  }

  protected emit<K extends keyof Events>(name: K, payload: Events[K]): void {
    for (const listener of this.listenersOf(name)) {
      listener(payload);
    }
  }

  private listenersOf(name: keyof Events): Set<Listener<any>> {
    let set = this.#listeners.get(name);
    if (!set) {
      set = new Set();
      this.#listeners.set(name, set);
    }
    return set;
  }
}
