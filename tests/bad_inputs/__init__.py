"""Bad inputs, each with the line that says what is wrong; `test_bad_inputs.py` runs them."""
