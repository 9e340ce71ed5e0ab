package bbolt

import (
	"errors"
	"fmt"
	"os"
)

// settle makes sure that the disk has what bbolt has just read. After a sync
// that failed, the cache of the operating system shows a meta page that the disk
// may lack, and says so no more: going on from it would overwrite pages which
// the disk still needs. Written again, the meta pages are synced again, before
// anything else is written.
func settle(file *os.File, pageSize int) error {
	page := make([]byte, pageSize)
	for offset := int64(0); offset <= int64(pageSize); offset += int64(pageSize) {
		if _, err := file.ReadAt(page, offset); err != nil {
			return err
		}
		if _, err := file.WriteAt(page, offset); err != nil {
			return err
		}
	}
	return file.Sync()
}

// start makes an open database ready for writing, or says why it must not be
// written to.
func (s *Store) start(path string) (err error) {
	if err := settle(s.file, int(s.pageSize)); err != nil {
		return refusal("cannot be made durable (%v): the disk may be failing; "+
			"look at it before starting again, plantstore check tells what is in the file", err)
	}
	newest, found := newestMeta(s.file)
	if !found {
		return broken("is damaged at its beginning: restore a backup")
	}
	if s.opened, err = sightOf(s.file); err != nil {
		return err
	}
	s.size.Store(s.opened.size)
	plants, err := s.countPlants()
	if err != nil {
		return err
	}
	s.plants.Store(plants)
	marked, torn, err := readMark(path, s.id)
	if err != nil {
		return err
	}
	if torn {
		s.logger.Warn("whether commits are lost cannot be found out this time: the mark is not whole, as after a power cut",
			"mark", MarkPath(path))
	}
	if marked > newest.txid {
		return broken("has lost its last %s: it is damaged, or an older copy was put in its place; "+
			"restore a backup, or, to go on with what is there, remove %s", counted(marked-newest.txid, "commit"), MarkPath(path))
	}
	if s.mark, err = openMark(path, s.id); err != nil {
		return fmt.Errorf("its mark: %w", err)
	}
	s.mark.set(newest.txid)
	return nil
}

// errGone is the fault of a file that is no longer where it was.
var errGone = errors.New("the database file was removed or replaced while it was open")

// intact returns the size of the file at the database's path, or an error if it is
// not the one that is open, or has become shorter: what is written to it then is
// lost.
func (s *Store) intact() (size int64, err error) {
	least := s.size.Load() // before the look: the file may grow at any time
	there, err := sight(s.file.Name())
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: %w", errGone, err)
	case !there.sameFile(s.opened):
		return 0, errGone
	case there.size < least:
		return 0, fmt.Errorf("the database file was cut short, from %d bytes to %d, while it was open", least, there.size)
	}
	return there.size, nil
}
