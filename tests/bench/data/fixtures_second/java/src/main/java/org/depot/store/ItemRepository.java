package org.depot.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.depot.model.Item;
import org.depot.model.Quantity;

public class ItemRepository extends AbstractRepository<String, Item> {
    private final Map<String, List<Item>> history = new HashMap<>();

    @Override
    protected String keyOf(Item item) {
        return item.code();
    }

    @Override
    public void save(Item item) {
        super.save(item);
        history.computeIfAbsent(keyOf(item), key -> new ArrayList<>()).add(item);
    }

    public Quantity total() {
        Quantity total = Quantity.NONE;
        for (Item item : all()) {
            total = total.add(item.quantity());
        }
        return total;
    }

    public Item latest(String code) {
        List<Item> items = history.get(code);
        return items.get(items.size() - 1).withQuantity(total());
    }

    public Optional<Item> merged(String code) {
        return history.get(code).stream().reduce(Item::plus);
    }

    public boolean isEmpty(String code) {
        return find(code).map(Item::quantity).map(Quantity::isEmpty).orElse(true);
    }
}
