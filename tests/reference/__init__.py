"""Independent, slow referees that the fast engines are compared with."""
