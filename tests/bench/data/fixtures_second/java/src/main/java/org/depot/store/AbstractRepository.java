package org.depot.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

abstract class AbstractRepository<K, V> implements Repository<K, V> {
    private final Map<K, V> values = new LinkedHashMap<>();
    private final List<Listener<V>> listeners = new ArrayList<>();

    protected abstract K keyOf(V value);

    @Override
    public Optional<V> find(K key) {
        return Optional.ofNullable(values.get(key));
    }

    @Override
    public void save(V value) {
        values.put(keyOf(value), value);
        listeners.forEach(listener -> listener.saved(value));
    }

    @Override
    public List<V> all() {
        return List.copyOf(values.values());
    }

    public void listen(Listener<V> listener) {
        listeners.add(listener);
    }

    public interface Listener<V> {
        void saved(V value);
    }
}
