"""What every package needs: errors, quantities with units, files that others may have written."""
