export class Money {
  private constructor(readonly cents: number) {}

  static zero(): Money {
    return new Money(0);
  }

  static fromCents(cents: number) {
    return new Money(cents);
  }

  plus(other: Money): Money {
    return Money.fromCents(this.cents + other.cents);
  }

  negate(): Money {
    return Money.fromCents(-this.cents);
  }

  isNegative(): boolean {
    return this.cents < 0;
  }
}

export const of = (amount: number): Money => Money.fromCents(Math.round(amount * 100));

export function format(money: Money): string;
export function format(money: Money, symbol: string): string;
export function format(money: Money, symbol = "€"): string {
  return `${symbol}${digits(money.cents)}`;
}

const digits = (cents: number) => (cents / 100).toFixed(2);
