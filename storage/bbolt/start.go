package bbolt

import (
	"errors"
	"fmt"
	"os"
)

// resyncMeta rewrites and syncs both meta pages as they are, before anything else is
// written. After a sync that failed, the cache of the operating system shows a meta
// page that the disk may lack, and reports that no more: going on from it would
// overwrite pages which the disk still needs.
func resyncMeta(file *os.File, pageSize int) error {
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

// start makes an open database ready for writing, or returns why it must not be
// written to.
func (e *Engine) start(journalBytes int64) (err error) {
	path := e.file.Name()
	if err := resyncMeta(e.file, int(e.pageSize)); err != nil {
		return refusal("cannot be made durable (%v): the disk may be failing; "+
			"look at it before starting again, plantstore check tells what is in the file", err)
	}
	newest, found := newestMeta(e.file)
	if !found {
		return broken("is damaged at its beginning: restore a backup")
	}
	if e.opened, err = statOpen(e.file); err != nil {
		return err
	}
	e.size.Store(e.opened.size)
	if err := e.startWatermark(path, newest.txid); err != nil {
		return err
	}
	if err := e.openJournal(path, os.O_RDWR); err != nil {
		return err
	}
	plants, err := e.countPlants()
	if err != nil {
		return err
	}
	e.plants.Store(plants)
	return e.startJournal(path, journalBytes)
}

// startWatermark compares the database with its mark and opens that.
func (e *Engine) startWatermark(path string, txid uint64) error {
	marked, torn, err := readWatermark(path, e.id)
	if err != nil {
		return err
	}
	if torn {
		e.logger.Warn("whether commits are lost cannot be found out this time: the mark is not whole, as after a power cut",
			"mark", WatermarkPath(path))
	}
	if marked > txid {
		return broken("has lost its last %s: it is damaged, or an older copy was put in its place; "+
			"restore a backup, or, to go on with what is there, remove %s", counted(marked-txid, "commit"), WatermarkPath(path))
	}
	if e.watermark, err = openWatermark(path, e.id); err != nil {
		return fmt.Errorf("its mark: %w", err)
	}
	e.watermark.set(txid)
	return nil
}

// errGone is the fault of a file that is no longer where it was.
var errGone = errors.New("was removed or replaced while it was open")

// verifyFiles returns an error if the database or its journal is no longer the file
// that is open, or has become shorter: what is written to it then is lost.
func (e *Engine) verifyFiles() error {
	least := e.size.Load() // before the stat: the file may grow at any time
	if err := verifyFile(e.file.Name(), e.opened, least); err != nil {
		return fmt.Errorf("the database file %w", err)
	}
	if e.journal == nil {
		return nil
	}
	if err := verifyFile(JournalPath(e.file.Name()), e.openedJournal, e.openedJournal.size); err != nil {
		return fmt.Errorf("the journal %w", err)
	}
	return nil
}

func verifyFile(path string, opened fileStat, least int64) error {
	there, err := statPath(path)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errGone, err)
	case !there.sameFile(opened):
		return errGone
	case there.size < least:
		return fmt.Errorf("was cut short, from %d bytes to %d, while it was open", least, there.size)
	}
	return nil
}
