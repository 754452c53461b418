package scanner

type UploadQueue struct {
	pending []string
	limit   int
}

func (q *UploadQueue) Push(code string) bool {
	if len(q.pending) >= q.limit {
		return false
	}
	q.pending = append(q.pending, code)
	return true
}

func (q *UploadQueue) Flush(send func(string) error) int {
	sent := 0
	for _, code := range q.pending {
		if send(code) != nil {
			break
		}
		sent++
	}
	q.pending = q.pending[sent:]
	return sent
}
