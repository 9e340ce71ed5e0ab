package storage

// LimitQueue sets the limits of the queue. It must be called before the first create.
func (s *Store) LimitQueue(plants, bytes int) { s.maxPlants, s.maxBytes = plants, bytes }

// Probe is what the timer calls, which may fire at the moment of Close.
func (s *Store) Probe() { s.probe() }
