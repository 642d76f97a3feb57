-- Makes operators, functions and types in `public` that stand in for those that a ledger's statements use,
-- and others whose types would fit better. Whoever calls one gets an error.
SET search_path = pg_catalog, pg_temp;
SET check_function_bodies = off;
DO $$
DECLARE
    body text := 'RETURNS boolean LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''a stranger is called''''; END''';
    -- The test puts all names there that stand before a bracket in the program.
    functions text[] := '{FUNCTIONS}';
    operators text[] := '{=,<>,<,<=,>,>=,+,-,*,/,||,->,->>}';
    types regtype[] := '{int2,int4,int8,numeric,float8,text,varchar,bytea,bool,timestamptz,interval,json}';
    f record;
    name text;
BEGIN
    -- Types, as far as they are not words of the language itself.
    FOREACH name IN ARRAY '{text,json,bytea,timestamptz,xid8,regclass}'::text[] LOOP
        EXECUTE format('CREATE DOMAIN public.%I AS integer', name);
    END LOOP;
    -- Functions: all of these names as they are, and with one value of each type.
    FOR f IN
        SELECT format('%I(%s)', proname, string_agg(format_type(a, NULL), ', ' ORDER BY nth)) AS signature
        FROM pg_proc LEFT JOIN LATERAL unnest(proargtypes) WITH ORDINALITY AS t (a, nth) ON true
        WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (functions)
            AND NOT EXISTS (
                SELECT FROM pg_type AS t
                WHERE t.oid = ANY (proargtypes) AND typtype = 'p' AND typname !~ '^any.'
            )
        GROUP BY pg_proc.oid, proname
        UNION
        SELECT format('%I(%s)', proname, t) FROM pg_proc, unnest(types) AS t
        WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (functions)
        UNION
        SELECT format('setval(%s, %s)', l, r) FROM unnest(types) AS l, unnest(types) AS r
    LOOP
        EXECUTE format('CREATE FUNCTION public.%s %s', f.signature, body);
    END LOOP;
    -- Operators: all of these names as they are, and for all pairs of the types.
    FOR f IN
        SELECT l, r, array_agg(o.name) AS names FROM (
            SELECT oprname AS name, oprleft::regtype AS l, oprright::regtype AS r FROM pg_operator
            WHERE oprname = ANY (operators) AND oprleft <> 0
            UNION
            SELECT o, l, r FROM unnest(operators) AS o, unnest(types) AS l, unnest(types) AS r
            WHERE o !~ '^->' OR l = 'json'::regtype
        ) AS o GROUP BY l, r
    LOOP
        EXECUTE format('CREATE FUNCTION public.stranger(%s, %s) %s', f.l, f.r, body);
        FOREACH name IN ARRAY f.names LOOP
            EXECUTE format(
                'CREATE OPERATOR public.%s (FUNCTION = public.stranger, LEFTARG = %s, RIGHTARG = %s)',
                name, f.l, f.r
            );
        END LOOP;
    END LOOP;
END $$;
