package scan

// Snapshot is the id of the snapshot that a table's source reads; 0: none.
func (s *tableSource) Snapshot() int64 {
	if s.at.snapshot == nil {
		return 0
	}
	return s.at.snapshot.SnapshotID
}
