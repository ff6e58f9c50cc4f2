"""The programs that our analysis is judged by, and the captures that it is judged on."""
