package cache

import (
	"errors"
	"sync"
)

var ErrMissing = errors.New("missing")

type Loader[K comparable, V any] interface {
	Load(key K) (V, error)
}

type LoaderFunc[K comparable, V any] func(key K) (V, error)

func (f LoaderFunc[K, V]) Load(key K) (V, error) { return f(key) }

type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
	loader Loader[K, V]
	stats  Stats
}

type Stats struct{ hits, misses int }

func (s *Stats) hit()  { s.hits++ }
func (s *Stats) miss() { s.misses++ }

func (s Stats) Ratio() float64 {
	return float64(s.hits) / float64(s.total())
}

func (s Stats) total() int { return s.hits + s.misses }

func New[K comparable, V any](loader Loader[K, V], opts ...Option) *Cache[K, V] {
	cfg := defaults()
	for _, opt := range opts {
		opt(&cfg)
	}
	return &Cache[K, V]{values: make(map[K]V, cfg.size), loader: loader}
}

type config struct{ size int }

type Option func(*config)

func WithSize(size int) Option {
	return func(c *config) { c.grow(size) }
}

func (c *config) grow(size int) { c.size = size }

func defaults() config { return config{size: 8} }

func (c *Cache[K, V]) Get(key K) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if value, ok := c.lookup(key); ok {
		c.stats.hit()
		return value, nil
	}
	c.stats.miss()
	value, err := c.loader.Load(key)
	if err == nil {
		c.values[key] = value
	}
	return value, err
}

func (c *Cache[K, V]) lookup(key K) (value V, ok bool) {
	value, ok = c.values[key]
	return
}

func (c *Cache[K, V]) Stats() *Stats { return &c.stats }
