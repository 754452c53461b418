package scanner

import "errors"

var ErrChecksum = errors.New("barcode has a wrong check digit")

func VerifyChecksum(code string) error {
	sum := 0
	for i, digit := range code {
		weight := 1
		if i%2 == 1 {
			weight = 3
		}
		sum += int(digit-'0') * weight
	}
	if sum%10 != 0 {
		return ErrChecksum
	}
	return nil
}

func TrimPadding(code string) string {
	for len(code) > 0 && code[0] == '0' {
		code = code[1:]
	}
	return code
}
