package org.depot;

import static org.depot.model.Quantity.of;

import java.util.Optional;
import org.depot.model.Item;
import org.depot.store.ItemRepository;
import org.depot.store.Repository;

public class Depot {
    private final ItemRepository items;
    private final Audit audit = new Audit() {
        @Override
        public void log(String line) {
            print(line);
        }
    };

    private Depot(Builder builder) {
        this.items = builder.items;
        this.items.listen(item -> audit.log(item.code()));
    }

    public static Builder builder() {
        return new Builder();
    }

    public void receive(String code, int amount) {
        Item incoming = new Item(code, of(amount));
        Optional<Item> known = items.find(code);
        if (known.isPresent()) {
            items.save(known.get().plus(incoming));
        } else {
            items.save(incoming);
        }
    }

    public int low(Repository<String, Item> repository) {
        return repository.select(this::isLow).size();
    }

    private boolean isLow(Item item) {
        return item.quantity().isEmpty();
    }

    private static void print(String line) {
        System.out.println(line);
    }

    interface Audit {
        void log(String line);
    }

    public static class Builder {
        private ItemRepository items;

        public Builder items(ItemRepository items) {
            this.items = items;
            return this;
        }

        public Depot build() {
            return new Depot(this);
        }
    }

    public static void main(String[] args) {
        var depot = Depot.builder().items(new ItemRepository()).build();
        depot.receive("a", 1);
        depot.low(depot.items);
        Item item = depot.items.require("a");
        depot.items.latest(item.code()).plus(item);
        if (depot.items.total().isEmpty()) {
            print("empty");
        }
        Object found = depot.items.merged("a").orElse(item);
        if (found instanceof Item last) {
            last.withQuantity(of(2));
        }
    }
}
