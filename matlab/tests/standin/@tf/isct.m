function found = isct(system)
%ISCT  True in continuous time.

found = system.ts == 0;
end
