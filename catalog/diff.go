package catalog

import (
	"fmt"
	"strings"
)

const (
	// diffContext is how many lines stand around what differs.
	diffContext = 3
	// maxDiffCells bounds the table by which lines are compared; what is longer differs
	// as a whole between the first line and the last one that do.
	maxDiffCells = 1 << 20
)

// Diff tells the lines of two texts apart in the form of diff -u, for a [Tool.Preview]
// of a tool that changes a file. Texts that are equal have none. What a text without a
// line break at its end lacks is not told.
func Diff(name, before, after string) string {
	if before == after {
		return ""
	}
	edits := compare(splitLines(before), splitLines(after))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	for first := 0; first < len(edits); {
		from, to := hunk(edits, first)
		if to == 0 {
			break
		}
		writeHunk(&b, edits, from, to)
		first = to
	}
	return b.String()
}

// edit is a line: kept, taken away or added.
type edit struct {
	mark byte // ' ', '-' or '+'
	line string
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compare finds the fewest lines to take away and to add.
func compare(before, after []string) (edits []edit) {
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		edits = append(edits, edit{' ', before[start]})
		start++
	}
	end := 0
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	edits = append(edits, compareMiddle(before[start:len(before)-end], after[start:len(after)-end])...)
	for _, line := range before[len(before)-end:] {
		edits = append(edits, edit{' ', line})
	}
	return edits
}

func compareMiddle(a, b []string) (edits []edit) {
	i, j := 0, 0
	if len(a)*len(b) <= maxDiffCells {
		common := commonLines(a, b)
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				edits = append(edits, edit{' ', a[i]})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				edits = append(edits, edit{'-', a[i]})
				i++
			default:
				edits = append(edits, edit{'+', b[j]})
				j++
			}
		}
	}
	for _, line := range a[i:] {
		edits = append(edits, edit{'-', line})
	}
	for _, line := range b[j:] {
		edits = append(edits, edit{'+', line})
	}
	return edits
}

// commonLines has at [i][j] how many lines a[i:] and b[j:] have in common, in order.
func commonLines(a, b []string) [][]int32 {
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// hunk finds the next lines to show from first on, those around what differs included.
// There are none where to is 0.
func hunk(edits []edit, first int) (from, to int) {
	last := -1
	for i := first; i < len(edits); i++ {
		if edits[i].mark == ' ' {
			continue
		}
		if last >= 0 && i-last > 2*diffContext {
			break
		}
		if last < 0 {
			from = max(i-diffContext, first)
		}
		last = i
	}
	if last < 0 {
		return 0, 0
	}
	return from, min(last+1+diffContext, len(edits))
}

func writeHunk(b *strings.Builder, edits []edit, from, to int) {
	line := [2]int{1, 1} // of before and after, where the hunk begins
	count := [2]int{}
	for i, e := range edits[:to] {
		in := [2]bool{e.mark != '+', e.mark != '-'}
		for side := range in {
			switch {
			case !in[side]:
			case i < from:
				line[side]++
			default:
				count[side]++
			}
		}
	}
	for side := range count {
		if count[side] == 0 { // as diff -u counts an empty side
			line[side]--
		}
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", line[0], count[0], line[1], count[1])
	for _, e := range edits[from:to] {
		b.WriteByte(e.mark)
		b.WriteString(e.line)
		b.WriteByte('\n')
	}
}
