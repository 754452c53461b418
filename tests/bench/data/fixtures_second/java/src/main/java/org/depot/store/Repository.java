package org.depot.store;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

public interface Repository<K, V> {
    Optional<V> find(K key);

    void save(V value);

    List<V> all();

    default V require(K key) {
        return find(key).orElseThrow(() -> new MissingException(key));
    }

    default List<V> select(Predicate<? super V> test) {
        return all().stream().filter(test).collect(Collectors.toList());
    }

    class MissingException extends RuntimeException {
        MissingException(Object key) {
            super(describe(key));
        }

        private static String describe(Object key) {
            return "missing " + key;
        }
    }
}
