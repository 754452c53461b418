package queue

import "fmt"

type Message struct {
	ID   string
	Body []byte
}

func (m Message) Size() int { return len(m.Body) }

func (m *Message) Clone() *Message {
	return &Message{ID: m.ID, Body: append([]byte(nil), m.Body...)}
}

type Handler interface {
	Handle(m *Message) error
}

type HandlerFunc func(m *Message) error

func (f HandlerFunc) Handle(m *Message) error { return f(m) }

type Middleware func(next Handler) Handler

type logger struct{ prefix string }

func (l *logger) Printf(format string, args ...any) { fmt.Printf(l.prefix+format, args...) }

type Queue struct {
	*logger
	messages chan *Message
	handlers map[string]Handler
	backlog  []*Message
}

func NewQueue(prefix string) *Queue {
	return &Queue{logger: &logger{prefix}, messages: make(chan *Message, 8), handlers: map[string]Handler{}}
}

func (q *Queue) Register(name string, h Handler, middleware ...Middleware) {
	for i := len(middleware) - 1; i >= 0; i-- {
		h = middleware[i](h)
	}
	q.handlers[name] = h
}

func (q *Queue) Send(m *Message) {
	q.Printf("send %d", m.Size())
	q.backlog = append(q.backlog, m.Clone())
	q.messages <- m
}

func (q *Queue) Run() (err error) {
	for m := range q.messages {
		h, ok := q.handlers[m.ID]
		if !ok {
			q.drop(m)
			continue
		}
		if err = h.Handle(m); err != nil {
			q.Printf("failed %v", err)
			return wrap(err, m)
		}
	}
	return nil
}

func (q *Queue) Replay() {
	for _, m := range q.backlog {
		q.Send(m.Clone())
	}
	select {
	case m := <-q.messages:
		q.drop(m)
	default:
	}
}

func (q *Queue) drop(m *Message) { q.logger.Printf("drop %s", m.ID) }

type handleError struct {
	cause error
	m     *Message
}

func (e *handleError) Error() string { return fmt.Sprint(e.m.Size(), e.cause) }

func wrap(err error, m *Message) error { return &handleError{cause: err, m: m} }
