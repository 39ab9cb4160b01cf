"""The built-in data set: its shipped runs, its way into a store, and what it says of the VLM in the box."""
