-- Revert pymem:roles from pg

-- Nothing to do: roles belong to the cluster, and the memory of another database may use them.
begin;
commit;
