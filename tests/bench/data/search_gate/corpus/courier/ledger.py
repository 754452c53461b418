from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    account: str
    cents: int
    reason: str


class Ledger:
    def __init__(self):
        self.entries = []

    def append(self, entry):
        self.entries.append(entry)

    def balance(self, account):
        return sum(entry.cents for entry in self.entries if entry.account == account)

    def refund(self, account, cents):
        self.append(Entry(account, cents, "refund"))


def monthly_statement(ledger, account, month):
    return [entry for entry in ledger.entries if entry.account == account and entry.month == month]
