-- Revert pymem:functions/core/base/deployment from pg

begin;

drop function memory.role_prefix();
drop function memory.has_extension(name);
drop function memory.extension_schemas();

commit;
