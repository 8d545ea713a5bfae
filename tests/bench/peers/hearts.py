"""OpenSpiel's hearts by its Python interface: random play, told by lines how many games of it."""

import importlib
import json
import random
import sys
import time


def main() -> None:
    pyspiel = importlib.import_module("pyspiel")
    game, chance = pyspiel.load_game("hearts"), random.Random(1)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        began, actions = time.process_time(), 0
        for _ in range(int(line)):
            state = game.new_initial_state()
            while not state.is_terminal():
                actions += not state.is_chance_node()  # those deal the cards
                state.apply_action(chance.choice(state.legal_actions()))
        print(json.dumps([actions, time.process_time() - began]), flush=True)


if __name__ == "__main__":
    main()
