package main

import (
	"os"

	"example.org/relay/cache"
	q "example.org/relay/queue"
)

type app struct {
	queue *q.Queue
	cache *cache.Cache[string, *q.Message]
	after []func() error
}

func newApp() (*app, error) {
	a := &app{queue: q.NewQueue("relay ")}
	a.cache = cache.New[string, *q.Message](cache.LoaderFunc[string, *q.Message](a.load), cache.WithSize(4))
	a.after = append(a.after, a.flush)
	return a, nil
}

func (a *app) load(id string) (*q.Message, error) {
	return &q.Message{ID: id}, nil
}

func (a *app) flush() error {
	return nil
}

func (a *app) Handle(m *q.Message) error {
	known, err := a.cache.Get(m.ID)
	if err != nil {
		return err
	}
	a.queue.Send(known.Clone())
	return nil
}

func logged(next q.Handler) q.Handler {
	return q.HandlerFunc(func(m *q.Message) error {
		report(m.Size())
		return next.Handle(m)
	})
}

func report(args ...any) {}

func run() int {
	a, err := newApp()
	if err != nil {
		return 1
	}
	defer a.close()
	a.queue.Register("a", a, logged)
	go a.queue.Run()
	a.queue.Printf("ratio %f", a.cache.Stats().Ratio())
	var h q.Handler = a
	if named, ok := h.(*app); ok {
		named.flush()
	}
	switch t := h.(type) {
	case q.HandlerFunc:
		t.Handle(nil)
	case *app:
		t.close()
	}
	return 0
}

func (a *app) close() {
	for _, after := range a.after {
		after()
	}
	a.queue.Replay()
}

func main() { os.Exit(run()) }
