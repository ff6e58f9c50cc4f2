"""What `dumbbell identify` ships: models, made by `python -m dumbbell_studies.identification`.

`plan.py` comes first: which algorithm runs on which drawn path. `collect.py` simulates, captures
and analyses, `boosting.py` learns, `calibration.py` says how sure the model may be.
"""
