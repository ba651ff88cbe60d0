package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

// Report is what [Verify] found.
type Report struct {
	// Records is how many lines are as they were written, one after another.
	Records int64 `json:"records"`
	// First and Last are the times of the first and the last of them.
	First *time.Time `json:"first,omitempty"`
	Last  *time.Time `json:"last,omitempty"`
	// Head is the hash of the last of them.
	Head string `json:"head,omitempty"`
	// Torn is how many bytes follow that are no whole line, as after a crash.
	Torn int `json:"torn_bytes,omitempty"`
	// Recovered counts the places where a torn line was taken away.
	Recovered int `json:"recovered,omitempty"`
}

// BrokenError says where a chain is broken.
type BrokenError struct {
	Line   int64
	Reason string
}

func (e *BrokenError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Verify reads a log and checks that each line is as it was written and follows the
// one before. With a head, that hash must be among the lines'. The error is a
// *[BrokenError], or says why the log cannot be read; the report is of what lies
// before it.
func Verify(r io.Reader, head string) (Report, error) {
	var report Report
	seen := head == ""
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := int64(1); ; n++ {
		text, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			report.Torn = len(text)
			if !seen {
				return report, &BrokenError{n, "the log has no line with the hash " + head + ": its end was taken away, or it is another log"}
			}
			return report, nil
		case err != nil:
			return report, err
		}
		one, hash, err := decode(text)
		switch {
		case err != nil:
			return report, &BrokenError{n, err.Error()}
		case one.Prev != report.Head:
			return report, &BrokenError{n, "it does not follow the line before: lines were removed, inserted or moved"}
		case one.Seq != n:
			return report, &BrokenError{n, fmt.Sprintf("it is number %d of the log", one.Seq)}
		}
		if report.First == nil {
			report.First = &one.Time
		}
		if one.Torn > 0 {
			report.Recovered++
		}
		report.Records, report.Last, report.Head = n, &one.Time, hash
		seen = seen || hash == head
	}
}

// readLine reads a line without its end. With io.EOF it returns what has no end.
func readLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if text = append(text, part...); len(text) > maxLine {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
		switch {
		case err == nil:
			return text[:len(text)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return text, err
		}
	}
}
