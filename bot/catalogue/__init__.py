"""From source to raise sites, from raise sites to records: the catalogue of what a project's code can raise."""
