function found = isct(system)
%ISCT  True: in continuous time.

found = isobject(system);
end
