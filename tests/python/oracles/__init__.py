"""The programs that our analysis is checked by, and the captures that it is checked on."""
