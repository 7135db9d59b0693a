function file = onPath(program)
%ONPATH  The path of a program in the directories of PATH; empty if it is not found.
%   file = wiregauge.internal.onPath('gnuplot') returns its path. On Windows .exe is added to the name.

if ispc()
    program = [program, '.exe'];
end
places = strsplit(getenv('PATH'), pathsep());
for k = 1:numel(places)
    file = fullfile(places{k}, program);
    if ~isempty(places{k}) && isfile(file)
        return
    end
end
file = '';
end
