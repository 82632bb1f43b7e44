"""The web: GitHub's hook, the JSON API, and a page for each error."""
