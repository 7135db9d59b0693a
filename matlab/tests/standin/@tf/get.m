function value = get(system, name)
%GET  The sample time.

assert(name, 'Ts');
value = system.ts;
end
