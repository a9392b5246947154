"""How many dead rows a mixed load leaves in each table, and how many updates were HOT.

Clients store, supersede, recall and read; autovacuum runs as the tables declare it, every ten
seconds instead of every minute, so that a short run shows what a long one settles at.

    python bench/soak.py [--seconds 60] [--clients 4]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg

from bench.scratch import scratch_database
from pymem import Memory, Request

WORDS = "tea coffee garden music winter travel bread river painting chess".split()


async def use(url: str, client: int, until: float) -> int:
    """Call until a time of the monotonic clock; return how many calls it made."""
    chance = random.Random(client)
    calls = 0
    async with await Memory.connect(url, request=Request(tenant_id="soak"), max_size=1) as memory:
        while time.monotonic() < until:
            word = chance.choice(WORDS)
            match chance.randrange(5):
                case 0:
                    await memory.store_fact(f"user {chance.randrange(500)}", "likes", word)
                case 1:
                    await memory.store_episode(f"They spoke of {word}", "home")
                case _:
                    await memory.recall(word)
            calls += 1
    return calls


async def main(url: str, clients: int, seconds: float) -> int:
    """Run the clients side by side; return how many calls they made."""
    until = time.monotonic() + seconds
    return sum(await asyncio.gather(*(use(url, n, until) for n in range(clients))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    with scratch_database() as scratch:
        with psycopg.connect(scratch.superuser_url, autocommit=True) as connection:
            connection.execute("alter system set autovacuum_naptime = '10s'")
            connection.execute("select pg_reload_conf()")
        print(asyncio.run(main(scratch.url, options.clients, options.seconds)), "calls")
        with psycopg.connect(scratch.superuser_url, autocommit=True) as connection:
            time.sleep(2)  # the statistics arrive late
            for name, live, dead, share, hot in connection.execute(
                """select relname, n_live_tup, n_dead_tup,
                     round(100.0 * n_dead_tup / greatest(n_live_tup, 1)),
                     round(100.0 * n_tup_hot_upd / nullif(n_tup_upd, 0))
                   from pg_stat_user_tables
                   where schemaname = 'memory' and n_tup_ins + n_tup_upd > 100
                   order by n_dead_tup desc, relname"""
            ):
                print(f"{name:24} live {live:8} dead {dead:7} ({share} %), HOT {hot} %")
