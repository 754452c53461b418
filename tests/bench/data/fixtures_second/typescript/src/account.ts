import { Emitter } from "./events";
import * as money from "./money";

export type AccountEvents = { posted: Entry; closed: Account };

export class Entry {
  constructor(readonly amount: money.Money, private readonly note?: string) {}

  reversed(): Entry {
    return new Entry(this.amount.negate(), this.note);
  }

  get label(): string {
    return money.format(this.amount);
  }
}

export abstract class Account extends Emitter<AccountEvents> {
  protected readonly entries: Entry[] = [];
  private readonly cache: Map<string, Entry> = new Map();

  constructor(readonly id: string) {
    super();
  }

  abstract accepts(entry: Entry): boolean;

  post(entry: Entry): this {
    if (!this.accepts(entry)) throw new RejectedError(entry);
    this.entries.push(entry);
    this.cache.set(entry.label, entry);
    this.emit("posted", entry);
    return this;
  }

  undo(): Entry | undefined {
    const last = this.entries.at(-1)?.reversed();
    if (last) this.post(last);
    return this.cache.get("x")?.reversed();
  }

  balance(): money.Money {
    return this.entries.reduce((sum, entry) => sum.plus(entry.amount), money.Money.zero());
  }

  static open(kind: Kind, id: string): Account {
    return factories[kind](id);
  }
}

export type Kind = "debit" | "credit";

class DebitAccount extends Account {
  accepts(entry: Entry): boolean {
    return !this.balance().plus(entry.amount).isNegative();
  }
}

class CreditAccount extends Account {
  constructor(id: string, private readonly limit = money.of(100)) {
    super(id);
  }

  accepts = (entry: Entry): boolean => this.balance().plus(this.limit).plus(entry.amount).isNegative() === false;
}

const factories: Record<Kind, (id: string) => Account> = {
  debit: (id) => new DebitAccount(id),
  credit: (id) => new CreditAccount(id),
};

export class RejectedError extends Error {
  constructor(readonly entry: Entry) {
    super(entry.label);
  }
}
