import { Account, Entry, of } from "./index";
import { MemoryStore, Transfer, cached } from "./store";

const log = {
  lines: [] as string[],
  write(text: string) {
    this.lines.push(text);
    this.trim();
  },
  trim() {
    this.lines.splice(0, this.lines.length - 10);
  },
};

function watch(account: Account) {
  return account.on("posted", (entry) => log.write(entry.label));
}

export default async function start(): Promise<void> {
  const store = cached(new MemoryStore<Account>());
  const account = Account.open("credit", "a");
  const watching = watch(account);
  await store.put(account.post(new Entry(of(10))));
  const transfer = new Transfer(store);
  await transfer.run("a", "b", 5);
  const again = await store.get("a");
  again?.balance().isNegative();
  watching.dispose();
}

void start();
