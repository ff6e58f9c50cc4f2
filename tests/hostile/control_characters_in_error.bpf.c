// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: gives an error message with a terminal's control characters
// stopped by: escaping of messages
// says: does not compile \([^)]*\): \\x1b\]0;owned\\x07\\x1b\[2J:1:2: error: #error
#line 1 "\033]0;owned\007\033[2J"
#error [2J ]0;owned all is well
