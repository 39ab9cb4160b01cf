"""SurgCheck: original questions and their less-biased twins, which name nothing and point with a cue."""
