package recent

// Len returns the number of entries, counting one that is in both generations twice.
func (m *Map[K, V]) Len() int { return len(m.younger) + len(m.older) }
