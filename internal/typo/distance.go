package typo

// Distance is the number of bytes to insert, delete or replace to make a into b. It
// takes time in proportion to both lengths: whoever asks bounds them.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := diagonal
			if a[i-1] != b[j-1] {
				replaced++
			}
			diagonal = row[j]
			row[j] = min(replaced, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
