import type { Account } from "./account";
import { Entry as Posting, RejectedError } from "./account";
import { of as amount } from "./money";

export interface Store<T extends { id: string }> {
  get(id: string): Promise<T | undefined>;
  put(item: T): Promise<void>;
}

export class MemoryStore<T extends { id: string }> implements Store<T> {
  private items = new Map<string, T>();

  async get(id: string) {
    return this.items.get(id);
  }

  async put(item: T) {
    this.items.set(item.id, item);
  }
}

export function cached<T extends { id: string }>(inner: Store<T>): Store<T> {
  const seen = new Map<string, T>();
  return {
    async get(id) {
      const known = seen.get(id);
      return known ?? inner.get(id);
    },
    async put(item) {
      seen.set(item.id, item);
      await inner.put(item);
    },
  };
}

export class Transfer {
  constructor(private readonly accounts: Store<Account>) {}

  async run(from: string, to: string, cents: number): Promise<boolean> {
    const [source, target] = await Promise.all([this.accounts.get(from), this.accounts.get(to)]);
    if (!source || !target) return false;
    const entry = new Posting(amount(cents));
    try {
      source.post(entry.reversed());
      target.post(entry).undo();
    } catch (error) {
      if (error instanceof RejectedError) {
        error.entry.reversed();
        return false;
      }
      throw error;
    }
    await this.save(source, target);
    return true;
  }

  private async save(...accounts: Account[]) {
    await Promise.all(accounts.map((account) => this.accounts.put(account)));
  }
}
