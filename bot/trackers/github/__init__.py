"""GitHub: what it sends us (:mod:`.receive`), what we ask of it (:mod:`.client`), and how we sign in (:mod:`.app`)."""
