"""The rules of each game, batched. Games never import each other."""
