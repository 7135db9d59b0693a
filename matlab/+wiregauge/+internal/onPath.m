function file = onPath(program)
%ONPATH  Where a program is along PATH; empty if it is not there.
%   file = wiregauge.internal.onPath('gnuplot') returns its path. In Windows the name has .exe added.

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
